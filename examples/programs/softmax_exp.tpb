; The softmax of each row of x, by the vector engine's own exponential: mariana, maverick. On mariana its bits are those
; of softmax_act.tpb.

.tensor x       sbuf 0 0x0000 fp32 128x64 in
.tensor y       sbuf 0 0x1000 fp32 128x64 out
.tensor highest sbuf 0 0x2000 fp32 128x1  temp
.tensor sum     sbuf 0 0x2010 fp32 128x1  temp
.tensor inverse sbuf 0 0x2020 fp32 128x1  temp

tensor_reduce_arith_op src=@x, dst=@highest, op=MAX, op_dim=X
exponential src=@x, dst=@y, imm0_src=POINTER_IMMEDIATE, imm0=@highest, accumulator_cmd=ZERO_ACCUMULATE
dve_read_accumulator dst=@sum
reciprocal src=@sum, dst=@inverse
tensor_scalar_arith_op src=@y, dst=@y, op0=MULT, imm0_src=POINTER_IMMEDIATE, imm0=@inverse
