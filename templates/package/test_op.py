"""KW_OP against its reference: values, gradients, and what PyTorch asks of an op."""

import gates
import pytest

SUBJECT = gates.Subject("KW_PACKAGE", "KW_OP", shapes=KW_SHAPES, empty=KW_EMPTY)


@pytest.mark.parametrize("gate", gates.GATES, ids=lambda gate: gate.__name__)
def test_KW_OP(gate):
    gate(SUBJECT)
