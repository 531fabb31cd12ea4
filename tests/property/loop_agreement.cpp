// The cases of the loop form, for the kernels that come from it.
#include "../unit/act/loop_agreement.cpp"
