// Tables, layers and windows: what takes tensors of its own.
#include "understand/words/lexicon.h"

namespace kw::understand {
namespace {

using enum WordForm;

constexpr WordEntry kTensors[] = {
    // ---- further tensors ----
    {"embedding",
     "look up token embeddings|look up tokens in an embedding table|look up embedding rows|embedding|embedding "
     "lookup|table lookup|embedding table lookup|lookup in an embedding table|token embedding|"
     "token embedding lookup|look up embeddings|look up rows of an embedding table|gather rows by index",
     Table, "F.embedding({ids}, {table})"},
    {"rope_half",
     "rotate half|rope half|half rotated rope|neox rope|rotate half rope|half rotated rotary embedding|llama rope|neox "
     "style rope|"
     "rotate half rotary embedding|rotary position embedding rotate half|llama style rope|llama style rotary embedding",
     Table,
     "{x} * {cos} + torch.cat((-{x}[..., {x}.shape[-1] // 2 :], {x}[..., : {x}.shape[-1] // 2]), dim=-1) * {sin}"},
    {"rope_interleaved",
     "interleaved rope|gpt j rope|interleaved rotary embedding|gptj rope|gpt j style rope|interleaved rotary position "
     "embedding",
     Table, "", "",
     "cos and sin have half head dim:rope_interleaved_compact|cos and sin of half head "
     "dim:rope_interleaved_compact|half size cos and sin:rope_interleaved_compact|compact cos and "
     "sin:rope_interleaved_compact|"
     "cos and sin of full head dim:rope_interleaved_full|full size cos and sin:rope_interleaved_full|cos and sin "
     "repeated for each pair:rope_interleaved_full",
     "rope_interleaved_full|rope_interleaved_compact"},
    {"rope_interleaved_full", "interleaved rope with full size cos and sin", Table,
     "{x} * {cos} + torch.stack((-{x}[..., 1::2], {x}[..., ::2]), dim=-1).flatten(-2) * {sin}"},
    {"rope_half_compact", "half rotated rope with compact cos and sin", Table,
     "torch.cat(({x}[..., : {x}.shape[-1] // 2] * {cos} - {x}[..., {x}.shape[-1] // 2 :] * {sin}, {x}[..., "
     "{x}.shape[-1] // 2 :] * {cos} "
     "+ {x}[..., : {x}.shape[-1] // 2] * {sin}), dim=-1)"},
    {"rope_interleaved_compact", "interleaved rope with compact cos and sin", Table,
     "torch.stack(({x}[..., ::2] * {cos} - {x}[..., 1::2] * {sin}, {x}[..., 1::2] * {cos} + {x}[..., ::2] * {sin}), "
     "dim=-1).flatten(-2)"},
    {"rope_compact", "rope with compact cos and sin", Table, "", "",
     "half rotated:rope_half_compact|rotate half:rope_half_compact|neox "
     "style:rope_half_compact|interleaved:rope_interleaved_compact",
     "rope_half_compact|rope_interleaved_compact"},
    {"rope", "rope|rotary embedding|rotary position embedding|rotary positional embedding|rotary embeddings", Table, "",
     "",
     "given cos / sin:rope|cos / sin:rope|cos and sin given:rope|given cos and sin tables:rope|cos and sin "
     "tables:rope|precomputed cos and sin:rope|half rotation:rope_half|rotate half style:rope_half|rotate half "
     "convention:rope_half|gpt neox style:rope_half|gpt neox:rope_half|llama:rope_half|gpt "
     "j:rope_interleaved|interleaved style:rope_interleaved|adjacent pairs:rope_interleaved|even and odd "
     "pairs:rope_interleaved|given cos and sin:rope|cos and sin:rope|cos and sin have half head dim:rope_compact|cos "
     "and "
     "sin of half head dim:rope_compact|half rotated:rope_half|rotate half as in llama:rope_half|rotate half as in hf "
     "llama:rope_half|rotate "
     "half:rope_half|half split:rope_half|neox:rope_half|neox style:rope_half|llama "
     "style:rope_half|"
     "interleaved:rope_interleaved|gpt j style:rope_interleaved|gptj style:rope_interleaved|interleaved "
     "pairs:rope_interleaved",
     "rope_half|rope_interleaved"},
    {"masked_mean",
     "mean pool over sequence dimension ignoring padding|mean pooling over sequence dimension ignoring padding|average "
     "over sequence ignoring padding|mean over sequence ignoring padding|masked mean pooling|masked mean|mean pooling "
     "with mask|masked average pooling|mean pooling ignoring padding|"
     "mean pool ignoring padding",
     Table, "({x} * {mask}.unsqueeze(-1)).sum(1) / {mask}.sum(1, keepdim=True)"},
    {"linear",
     "linear layer|fully connected layer|dense layer|affine layer|linear projection|linear|dense|fully "
     "connected|projection",
     Table, "F.linear({x}, {w}, {b})", "", "", "", "w=torch.randn(out, cols)|b=torch.randn(out)"},
    {"bilinear", "bilinear layer|bilinear form", Table, "F.bilinear({x}, {y}, {w}, {b})", "", "", "",
     "w=torch.randn(out, cols, cols)|b=torch.randn(out)"},
    {"transpose",
     "transpose|matrix transpose|transpose the last two dims|transpose the last two dimensions|swap the last two "
     "dims|swap the last two axes|transpose the last two axes|swap the last two dimensions",
     Pointwise, "{x}.transpose(-1, -2)"},
    {"lower_triangle", "lower triangle|lower triangular part|tril|zero out the upper triangle", Pointwise,
     "torch.tril({x})"},
    {"upper_triangle", "upper triangle|upper triangular part|triu", Pointwise, "torch.triu({x})"},
    {"concatenation", "concatenate|concatenation|concat|cat", Pair, "torch.cat(({x}, {y}), dim={dim})"},
    {"stacking", "stack", Pair, "torch.stack(({x}, {y}), dim={dim})"},
    {"one_hot", "one hot|one hot encoding|one hot encode", Table, "F.one_hot({ids}, {size})", "size!", "", "",
     "ids=torch.randint(0, 10, (tokens,))"},
    {"attention_causal",
     "causal attention|causal self attention|causal scaled dot product attention|scaled dot product attention with a "
     "causal mask|attention with a causal mask",
     Table, "F.scaled_dot_product_attention({x}, {y}, {z}, is_causal=True)", "",
     "q , k and v:attention_causal|q k and v:attention_causal|q , k , v:attention_causal|q k v:attention_causal", "",
     "x=torch.randn(batch, heads, rows, 64)|y=torch.randn(batch, heads, rows, 64)|z=torch.randn(batch, heads, rows, "
     "64)"},
    {"attention", "scaled dot product attention|dot product attention|attention|sdpa|self attention", Table,
     "F.scaled_dot_product_attention({x}, {y}, {z})", "",
     "causal mask:attention_causal|causal:attention_causal|causal masking:attention_causal|no mask:attention|without "
     "mask:attention|q , k and v:attention|q k and v:attention|q , k , v:attention|q k v:attention|"
     "query , key and value:attention|query key and value:attention|query , key , value:attention|is causal = "
     "true:attention_causal|non causal:attention|not causal:attention",
     "",
     "x=torch.randn(batch, heads, rows, 64)|y=torch.randn(batch, heads, rows, 64)|z=torch.randn(batch, heads, rows, "
     "64)"},
    // ---- windows ----
    {"max_pool1d", "1d max pooling|max pooling 1d|max pool 1d|1d max pool|maxpool1d|max pool1d", Window,
     "F.max_pool1d({x}, {kernel}, {stride}, {padding}, {dilation})", "kernel! stride={kernel} padding=0 dilation=1", "",
     "", "x=torch.randn(batch, channels, cols)"},
    {"max_pool2d",
     "2d max pooling|max pooling 2d|max pool 2d|2d max pool|maxpool2d|max pool2d|two dimensional max pooling", Window,
     "F.max_pool2d({x}, {kernel}, {stride}, {padding}, {dilation})", "kernel! stride={kernel} padding=0 dilation=1", "",
     "", "x=torch.randn(batch, channels, height, width)"},
    {"max_pool3d", "3d max pooling|max pooling 3d|max pool 3d|3d max pool|maxpool3d|max pool3d", Window,
     "F.max_pool3d({x}, {kernel}, {stride}, {padding}, {dilation})", "kernel! stride={kernel} padding=0 dilation=1", "",
     "", "x=torch.randn(batch, channels, 16, height, width)"},
    {"avg_pool1d",
     "1d average pooling|average pooling 1d|average pool 1d|1d average pool|avgpool1d|avg pool1d|avg pool 1d|1d avg "
     "pool|1d avg pooling|1d mean pooling",
     Window, "F.avg_pool1d({x}, {kernel}, {stride}, {padding})", "kernel! stride={kernel} padding=0", "", "",
     "x=torch.randn(batch, channels, cols)"},
    {"avg_pool2d",
     "2d average pooling|average pooling 2d|average pool 2d|2d average pool|avgpool2d|avg pool2d|avg pool 2d|2d avg "
     "pool|2d avg pooling|2d mean pooling",
     Window, "F.avg_pool2d({x}, {kernel}, {stride}, {padding})", "kernel! stride={kernel} padding=0", "", "",
     "x=torch.randn(batch, channels, height, width)"},
    {"avg_pool3d",
     "3d average pooling|average pooling 3d|average pool 3d|3d average pool|avgpool3d|avg pool3d|avg pool 3d|3d avg "
     "pool",
     Window, "F.avg_pool3d({x}, {kernel}, {stride}, {padding})", "kernel! stride={kernel} padding=0", "", "",
     "x=torch.randn(batch, channels, 16, height, width)"},
    {"max_pool_square", "max pooling|maxpool|max pool with", Window,
     "F.max_pool2d({x}, {kernel}, {stride}, {padding}, {dilation})", "kernel! stride={kernel} padding=0 dilation=1", "",
     "", "x=torch.randn(batch, channels, height, width)"},
    {"global_avg_flat", "global average pooling to a vector per channel", Pointwise, "{x}.mean((-2, -1))", "", "", "",
     "x=torch.randn(batch, channels, height, width)"},
    {"global_avg_kept",
     "adaptive average pooling to 1x1|adaptive avg pool to 1x1|adaptive average pooling to size 1|adaptive avg pooling "
     "to 1x1|adaptive average pool to 1x1",
     Pointwise, "{x}.mean((-2, -1), keepdim=True)", "", "", "", "x=torch.randn(batch, channels, height, width)"},
    {"global_avg_pool", "global average pooling|global avg pool|global avg pooling|global average pool", Pointwise, "",
     "",
     "keepdim:global_avg_kept|keeping spatial dims:global_avg_kept|over spatial dims:global_avg_flat|spatial "
     "dimensions:global_avg_flat|spatial axes:global_avg_flat|over height and "
     "width:global_avg_flat|spatial dims:global_avg_flat|over h and w:global_avg_flat|"
     "one number per channel:global_avg_flat|to vector:global_avg_flat",
     "global_avg_flat|global_avg_kept"},
    {"global_max_flat", "global max pooling to a vector per channel", Pointwise, "{x}.amax((-2, -1))", "", "", "",
     "x=torch.randn(batch, channels, height, width)"},
    {"global_max_kept", "adaptive max pooling to 1x1|adaptive max pool to 1x1", Pointwise,
     "{x}.amax((-2, -1), keepdim=True)", "", "", "", "x=torch.randn(batch, channels, height, width)"},
    {"global_max_pool", "global max pooling|global max pool", Pointwise, "", "",
     "keepdim:global_max_kept|over spatial dims:global_max_flat|spatial dimensions:global_max_flat|over height and "
     "width:global_max_flat|spatial "
     "dims:global_max_flat",
     "global_max_flat|global_max_kept"},
    {"conv1d", "1d convolution|conv1d|1d conv|convolution 1d|conv 1d", Window,
     "F.conv1d({x}, {w}, {b}, stride={stride}, padding={padding}, dilation={dilation})",
     "kernel=3 stride=1 padding=0 dilation=1", "", "",
     "x=torch.randn(batch, channels, cols)|w=torch.randn(64, channels, {kernel})|b=torch.randn(64)"},
    {"conv2d", "2d convolution|conv2d|2d conv|convolution 2d|conv 2d", Window,
     "F.conv2d({x}, {w}, {b}, stride={stride}, padding={padding}, dilation={dilation})",
     "kernel=3 stride=1 padding=0 dilation=1", "", "",
     "x=torch.randn(batch, channels, height, width)|w=torch.randn(64, channels, {kernel}, {kernel})|b=torch.randn(64)"},
    {"pixel_shuffle", "pixel shuffle|pixelshuffle", Window, "F.pixel_shuffle({x}, {factor})", "factor!", "", "",
     "x=torch.randn(batch, channels, height, width)"},
};

}  // namespace

std::span<const WordEntry> tensors_lexicon() { return kTensors; }

}  // namespace kw::understand
