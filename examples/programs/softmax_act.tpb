; The softmax of each row of x, by the activation engine: sunda, cayman, mariana.
;
; The largest value is taken off first, so that nothing overflows. exp is row 9 of the activation table, which is this
; project's own (`gpsimd explain activate`). The sum of a row stands in the lane's ACT accumulator.

.tensor x       sbuf 0 0x0000 fp32 128x64 in
.tensor y       sbuf 0 0x1000 fp32 128x64 out
.tensor highest sbuf 0 0x2000 fp32 128x1  temp   ; minus the largest value of a row
.tensor sum     sbuf 0 0x2010 fp32 128x1  temp
.tensor inverse sbuf 0 0x2020 fp32 128x1  temp

tensor_reduce_arith_op src=@x, dst=@highest, op=MAX, op_dim=X, negated=1
activate src=@x, dst=@y, activation_func=9, scale_value=1.0, bias_src_n=POINTER_IMMEDIATE, bias=@highest, bias_dtype=FP32, accumulator_cmd=ZERO_ACCUMULATE
activation_read_accumulator dst=@sum
reciprocal src=@sum, dst=@inverse
tensor_scalar_arith_op src=@y, dst=@y, op0=MULT, imm0_src=POINTER_IMMEDIATE, imm0=@inverse
