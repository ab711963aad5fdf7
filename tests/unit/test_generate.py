"""Generated graphs: the same everywhere, shaped as told, and equal to their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command import run_command

from groute_py.errors import InputError
from groute_py.graph import drawn
from groute_py.graph import generate as module
from groute_py.graph.generate import generate, is_spec
from groute_py.kernels.cpu.draw import round_numbers, scramble

WRAP = 2**64 - 1
G = 0x9E3779B97F4A7C15


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WRAP
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WRAP
    return z ^ (z >> 31)


def draw(seed, stream, index):
    key = mix((mix((seed + G) & WRAP) + stream * G) & WRAP)
    return mix((key + (index + 1) * G) & WRAP)


def arcs(graph):
    tails = np.repeat(np.arange(graph.vertex_count), np.diff(graph.offsets))
    return list(zip(tails.tolist(), graph.heads.tolist(), graph.weights.tolist(), strict=True))


def weight(seed, index):
    return 1 + ((draw(seed, 2, index) >> 32) * 255 >> 32)


def random_by_definition(seed, n, m):
    for arc in range(m):
        x = draw(seed, 1, arc)
        yield (x >> 32) * n >> 32, (x % 2**32) * n >> 32, weight(seed, arc)


def scrambled(seed, vertex, scale):
    for k in range(4):
        factor, addend = draw(seed, 4, 2 * k) | 1, draw(seed, 4, 2 * k + 1)
        vertex = (vertex * factor + addend) % 2**scale
        vertex ^= vertex >> (scale + 1) // 2
    return vertex


def rmat_by_definition(seed, scale, factor):
    shares = [int(share * 2**20) for share in (0.57, 0.76, 0.95)]
    draws = -(-scale // 3)
    for edge in range(factor << scale):
        tail = head = 0
        for k in range(draws):
            x = draw(seed, 3, edge * draws + k)
            for j in range(3):
                quadrant = sum(x >> 21 * j & (2**20 - 1) >= share for share in shares)
                tail |= (quadrant >> 1) << j * draws + k
                head |= (quadrant & 1) << j * draws + k
        tail, head = (scrambled(seed, v % 2**scale, scale) for v in (tail, head))
        yield tail, head, weight(seed, edge)
        yield head, tail, weight(seed, edge)


def road_by_definition(seed, width, height):
    for v in range(width * height):
        for other, inside, edge in (
            (v + 1, v % width + 1 < width, 2 * v),
            (v + width, v + width < width * height, 2 * v + 1),
        ):
            x = draw(seed, 1, edge)
            if inside and x >> 32 < int(0.62 * 2**32):
                length = (6000 * (x % 2**32) ** 2 >> 64) + 1
                yield v, other, length
                yield other, v, length


def test_the_output_is_looked_at_first(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "generate", lambda *_, **__: pytest.fail("it began"))
    for name, says in (("none/g.gr", "does not exist; create it first"), ("g.foo", "written as")):
        with pytest.raises(InputError, match=says):
            run_command("generate", "road:9x9", "-o", tmp_path / name)


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1])
@pytest.mark.parametrize(
    ("spec", "definition"),
    [
        ("random:7,40", lambda seed: random_by_definition(seed, 7, 40)),
        ("rmat:5,3", lambda seed: rmat_by_definition(seed, 5, 3)),
        ("rmat:4", lambda seed: rmat_by_definition(seed, 4, 16)),
        ("rmat:0,2", lambda seed: rmat_by_definition(seed, 0, 2)),
        ("road:7x5", lambda seed: road_by_definition(seed, 7, 5)),
        ("road:1x9", lambda seed: road_by_definition(seed, 1, 9)),
    ],
)
def test_the_definition(spec, definition, seed):
    expected = list(definition(seed))
    graph = generate(spec, seed=seed)
    assert (graph.name, graph.heads.dtype, graph.weights.dtype) == (spec, np.int32, np.int32)
    if spec.startswith("road"):
        assert arcs(graph) == sorted(expected)
    else:
        assert arcs(graph) == sorted(expected, key=lambda arc: arc[0])


def test_blocks_do_not_matter(monkeypatch):
    whole = [arcs(generate(spec)) for spec in ("rmat:8", "random:50,9001")]
    monkeypatch.setattr(drawn, "BLOCK", 1 << 9)
    assert [arcs(generate(spec)) for spec in ("rmat:8", "random:50,9001")] == whole


def test_known_sums():
    sums = {
        spec: int((graph.heads.astype(np.int64) * graph.weights).sum())
        for spec in ("road:100x80", "rmat:10", "random:1000,5000")
        for graph in [generate(spec)]
    }
    assert sums == {
        "road:100x80": 155_958_107_586,
        "rmat:10": 2_192_427_274,
        "random:1000,5000": 324_529_157,
    }


def test_road_shape():
    graph = generate("road:300x200")
    assert graph.vertex_count == 60_000
    assert abs(graph.arc_count / (2 * (299 * 200 + 300 * 199)) - 0.62) < 0.01
    assert 1 <= graph.weights.min() <= 3
    assert 5950 <= graph.weights.max() <= 6000
    assert abs(graph.weights.mean() - 2000) < 40


def test_rmat_shape():
    graph = generate("rmat:12")
    assert (graph.vertex_count, graph.arc_count) == (4096, 131_072)
    assert (graph.weights.min(), graph.weights.max()) == (1, 255)
    degrees = np.sort(np.diff(graph.offsets))
    assert degrees[-1] > 20 * degrees.mean()
    assert degrees[0] == 0
    assert np.argmax(np.diff(graph.offsets)) != 0


@given(st.integers(1, 12), st.integers(0, 2**64 - 1))
def test_ids_are_permuted(scale, seed):
    rounds = round_numbers(np.uint64(seed))
    images = {int(scramble(rounds, np.uint64(v), scale)) for v in range(2**scale)}
    assert images == set(range(2**scale))


@pytest.mark.parametrize("seed", [-1, 2**64, np.int64(-3)])
def test_seeds_out_of_range(seed):
    with pytest.raises(InputError, match="seed must be from 0 to"):
        generate("random:9,30", seed=seed)


def test_seeds_differ():
    assert arcs(generate("random:9,30", seed=1)) != arcs(generate("random:9,30", seed=2))


@pytest.mark.parametrize("spec", ["road:0x5", "road:5x0", "random:0,0", "random:5,0", "rmat:3,0"])
def test_nothing_much(spec):
    assert generate(spec).arc_count == 0


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("road:10", "write it like road:1000x1000"),
        ("road:-1x5", "write it like road"),
        ("rmat:", "write it like rmat:20"),
        ("rmat:5,", "write it like rmat:20"),
        ("random:5", "write it like random:1000,5000"),
        ("random:0,5", "arcs need a vertex"),
        ("tree:5", "write it like road:1000x1000; rmat"),
        ("rmat:31", "at most 30"),
        ("road:100000x100000", "10,000,000,000 vertices are too many"),
        ("rmat:30,9999", r"would take .* bytes of memory, more than"),
    ],
)
def test_bad_specs(spec, message):
    with pytest.raises(InputError, match=message):
        generate(spec)


def test_what_a_spec_is():
    assert all(map(is_spec, ["road:5x5", "rmat:x", "random:"]))
    assert not any(map(is_spec, ["road.gr", "graph:5", "rmat", "/tmp/rmat:5"]))
