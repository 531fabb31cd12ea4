"""The engine and PyTorch agree on random graphs: the interpreter with the reference.py of each, in the graphs' own
types within the bound that the interpreter derives and in double precision; autograd with the derivative graph. A wrong
row in any of the tables behind them is seen here."""

import pytest
import torch
from random_graphs import forward_difference, gradient_difference, graphs, report

COUNT = 300
IN_DOUBLE = 1e-10


@pytest.fixture(autouse=True)
def one_thread():
    """Small tensors are slower on many threads, and sums are the same on every machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def failures(mode, plant=""):
    """Each graph on which the two disagree, as it is found."""
    for graph in graphs(mode, 0, COUNT, plant):
        if mode == "gradients":
            wrong = gradient_difference(graph, IN_DOUBLE)
        else:
            wrong = forward_difference(graph, None if mode == "rounded" else IN_DOUBLE)
        if wrong:
            yield graph, wrong


def assert_none(found):
    found = list(found)
    assert not found, f"{len(found)} graphs disagree; the first:\n{report(*found[0])}"


def test_references_agree_with_the_interpreter_within_its_bound_in_the_graphs_own_types():
    assert_none(failures("rounded"))


def test_bounds_are_tight_almost_everywhere():
    """A bound that allows anything would let anything pass."""
    elements = unbounded = exact = 0
    for graph in graphs("rounded", 0, COUNT):
        for output in graph["outputs"]:
            elements += len(output["bounds"])
            unbounded += sum(bound == "inf" for bound in output["bounds"])
            exact += sum(bound == 0 for bound in output["bounds"])
    assert unbounded < 0.01 * elements
    assert exact > 0.5 * elements


def test_references_agree_with_real_semantics_in_double_precision():
    assert_none(failures("real"))


def test_references_of_simplified_graphs_agree_with_the_graphs_as_they_were():
    assert_none(failures("simplified"))


def test_autograd_agrees_with_the_derivative_graph_in_double_precision():
    assert_none(failures("gradients"))


WRONG_MEANINGS = (
    "exp sin round add max lt and sum reduce_max any argmax cumsum cummax scatter_add segment_max sort topk".split()
)
WRONG_DERIVATIVES = "exp sin tanh sub mul max sum logsumexp cumsum erf sqrt".split()


@pytest.mark.parametrize("op", "sum gather split topk contract".split())
def test_a_wrong_shape_is_caught(op):
    assert any(failures("real", f"shape:{op}"))


@pytest.mark.parametrize("op", WRONG_MEANINGS)
def test_a_wrong_meaning_is_caught(op):
    assert any(failures("real", f"meaning:{op}"))


@pytest.mark.parametrize("op", WRONG_DERIVATIVES)
def test_a_wrong_derivative_is_caught(op):
    assert any(failures("gradients", f"derivative:{op}"))


def test_a_wrong_promotion_is_caught():
    assert any(failures("rounded", "promotion"))


def test_a_wrong_rewrite_is_caught():
    assert any(failures("simplified", "rewrite"))
