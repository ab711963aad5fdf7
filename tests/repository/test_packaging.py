"""Files of packaging/ say the same of the package as pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from support.places import ROOT

import groute_py

FOLDER = ROOT / "packaging"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RECIPE: dict[str, Any] = yaml.safe_load((FOLDER / "conda" / "recipe.yaml").read_text("utf-8"))


def needs(requirements: list[str]) -> dict[str, str]:
    """The least versions of some requirements, by the names of their projects."""
    parsed = [Requirement(each) for each in requirements]
    return {each.name: str(each.specifier) for each in parsed}


def plain(requirements: list[Any]) -> list[str]:
    return [each for each in requirements if isinstance(each, str)]


def of_gpus(requirements: list[Any]) -> list[str]:
    return [each for row in requirements if isinstance(row, dict) for each in row["then"]]


def test_the_recipe_is_of_this_version() -> None:
    assert RECIPE["context"]["version"] == groute_py.__version__
    assert RECIPE["context"]["name"] == PROJECT["name"]
    assert RECIPE["about"]["homepage"] == PROJECT["urls"]["Repository"]
    assert RECIPE["about"]["summary"] == PROJECT["description"]
    assert RECIPE["about"]["license"] == PROJECT["license"]


def test_the_recipe_needs_what_the_package_needs() -> None:
    run = RECIPE["requirements"]["run"]
    assert run[0] == "python >=${{ python_min }}"
    assert needs(plain(run[1:])) == needs(PROJECT["dependencies"])
    variants = yaml.safe_load((FOLDER / "conda" / "variants.yaml").read_text("utf-8"))
    assert [f">={least}" for least in variants["python_min"]] == [PROJECT["requires-python"]]


def test_the_recipe_builds_with_what_the_build_needs() -> None:
    host = RECIPE["requirements"]["host"]
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    hook = re.findall(r'"([\w-]+>=[\d.]+)"', (ROOT / "hatch_build.py").read_text("utf-8"))
    names = {"nvidia-cuda-nvrtc": "cuda-nvrtc"}
    expected = {names.get(name, name): least for name, least in needs([*build, *hook]).items()}
    assert needs(plain(host[2:]) + of_gpus(host)) == expected


def test_the_recipe_for_gpus_needs_a_driver_and_cupy() -> None:
    marker, *rest = of_gpus(RECIPE["requirements"]["run"])
    assert marker == "__cuda"
    extra = needs(PROJECT["optional-dependencies"]["cuda12"])
    assert needs(rest) == {"cupy": extra["cupy-cuda12x"], "nvidia-ml-py": extra["nvidia-ml-py"]}


def test_the_recipe_renders_for_cpus_and_gpus() -> None:
    rattler = pytest.importorskip("rattler_build")
    recipe = rattler.Stage0Recipe.from_file(str(FOLDER / "conda" / "recipe.yaml"))
    variants = rattler.VariantConfig.from_file(str(FOLDER / "conda" / "variants.yaml"))
    platform = rattler.PlatformConfig(target_platform="linux-64", host_platform="linux-64")
    rendered = recipe.render(variants, rattler.RenderConfig(platform=platform))
    builds = {
        one["build"]["string"].split("_")[0]: one for one in (r.recipe.to_dict() for r in rendered)
    }
    assert builds.keys() == {"cpu", "cuda"}
    assert builds["cuda"]["build"]["number"] > builds["cpu"]["build"]["number"]
    for kind, one in builds.items():
        assert ("__cuda" in one["requirements"]["run"]) == (kind == "cuda")


@pytest.mark.parametrize("name", ["Dockerfile", "apptainer.def"])
def test_containers_have_extras_and_versions_of_python_that_there_are(name: str) -> None:
    text = (FOLDER / name).read_text("utf-8")
    extras = set(re.findall(r"(?i)\bextras=([\w,]+)", text))
    assert extras
    for each in extras:
        assert set(each.split(",")) <= PROJECT["optional-dependencies"].keys()
    (python,) = re.findall(r"(?m)^(?:ARG PYTHON=|From: python:)([\d.]+)", text)
    assert f"Programming Language :: Python :: {python}" in PROJECT["classifiers"]


def test_the_container_for_clusters_has_the_files_of_the_build() -> None:
    text = (FOLDER / "apptainer.def").read_text("utf-8")
    for source, target in re.findall(r"(?m)^    (\S+) /source/(\S+)$", text):
        assert source == target
        assert (ROOT / source).exists()
    for name in ("groute_py", *ROOT.glob("compile_*.py"), "hatch_build.py", "pyproject.toml"):
        assert f"    {getattr(name, 'name', name)} /source/" in text
