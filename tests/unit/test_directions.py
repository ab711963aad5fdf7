"""Directions of an assignment that are conjugate to those before."""

from __future__ import annotations

import numpy as np
import pytest

from groute_py.assignment.directions import Flows, Triconjugate


@pytest.mark.parametrize("seed", range(20))
def test_three_directions(seed: int) -> None:
    """Each way that counts is conjugate to the new one, by second derivatives that stay."""
    random = np.random.default_rng(seed)
    root = random.random((8, 8))
    curvature = root @ root.T
    flows: Flows = random.random(8)
    rule, before = Triconjugate(), list[Flows]()

    def products(points: object) -> Flows:
        ways = np.stack(list(points)) - flows  # type: ignore[call-overload]
        return np.asarray(ways @ curvature @ ways.T)

    for _ in range(6):
        loading = random.random(8)
        weights, means = rule.mean(loading, products)
        target: Flows = np.asarray(weights) @ np.stack(means)
        points = np.stack([loading, *before])
        shares = np.linalg.lstsq(np.r_[points.T, [np.ones(len(points))]], np.r_[target, 1])[0]
        assert (shares > -1e-9).all()
        np.testing.assert_allclose(shares @ points, target)
        for share, point in zip(shares[1:], before, strict=True):
            assert share < 1e-9 or abs((target - flows) @ curvature @ (point - flows)) < 1e-9
        before = [target, *before][:3]
        flows = flows + 0.3 * (target - flows)
        rule.moved(target, 0.3)
    rule.moved(target, 1.0)
    weights, means = rule.mean(loading, products)
    np.testing.assert_array_equal(np.asarray(weights) @ np.stack(means), loading)
