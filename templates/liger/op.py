# An op of a Liger checkout: kernels stand between head and host functions. What lies between two marks is copied.
from holes import KW_STATEMENTS


# skeleton head
# SPDX-License-Identifier: KW_EXPRESSION_licence
#
KW_STATEMENTS(notes)
import torch
import triton
import triton.language as tl

from liger_kernel.ops.utils import ensure_contiguous


# end


# skeleton host
def KW_NAME_function(KW_LIST_arguments):
    KW_STATEMENTS(body)


# end


# skeleton autograd
class KW_NAME_autograd(torch.autograd.Function):
    @staticmethod
    @ensure_contiguous
    def forward(ctx, KW_LIST_arguments):
        KW_STATEMENTS(forward)

    @staticmethod
    @ensure_contiguous
    def backward(ctx, KW_LIST_cotangents):
        KW_STATEMENTS(backward)


# end


# skeleton functional
def KW_NAME_function(KW_LIST_arguments):
    KW_STATEMENTS(body)


# end


# skeleton module
# SPDX-License-Identifier: KW_EXPRESSION_licence
KW_STATEMENTS(imports)

from liger_kernel.ops import KW_NAME_autograd


class KW_NAME_module(nn.Module):
    KW_STATEMENTS(body)


# end
