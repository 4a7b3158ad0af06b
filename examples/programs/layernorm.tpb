; LayerNorm of each row of x, with gain and shift: (x - mean) / sqrt(variance + 1e-5) * gain + shift. Every generation.

.tensor x        sbuf 0 0x0000 fp32 128x64 in
.tensor gain     sbuf 0 0x0100 fp32 128x64 in
.tensor shift    sbuf 0 0x0200 fp32 128x64 in
.tensor y        sbuf 0 0x1000 fp32 128x64 out
.tensor centred  sbuf 0 0x2000 fp32 128x64 temp
.tensor squares  sbuf 0 0x3000 fp32 128x64 temp
.tensor sum      sbuf 0 0x4000 fp32 128x1  temp
.tensor mean     sbuf 0 0x4010 fp32 128x1  temp
.tensor variance sbuf 0 0x4020 fp32 128x1  temp
.tensor scale    sbuf 0 0x4030 fp32 128x1  temp

tensor_reduce_arith_op src=@x, dst=@sum, op=ADD, op_dim=X
tensor_scalar_arith_op src=@sum, dst=@mean, op0=MULT, imm0=0.015625                                ; 1 / 64
tensor_scalar_arith_op src=@x, dst=@centred, op0=SUBTRACT, imm0_src=POINTER_IMMEDIATE, imm0=@mean
tensor_tensor_arith_op src0=@centred, src1=@centred, dst=@squares, op=MULT
tensor_reduce_arith_op src=@squares, dst=@sum, op=ADD, op_dim=X
tensor_scalar_arith_op src=@sum, dst=@variance, op0=MULT, imm0=0.015625, op1=ADD, imm1=1e-5
tensor_scalar_arith_op src=@variance, dst=@scale, op0=RSQRT
tensor_scalar_arith_op src=@centred, dst=@y, op0=MULT, imm0_src=POINTER_IMMEDIATE, imm0=@scale
tensor_tensor_arith_op src0=@y, src1=@gain, dst=@y, op=MULT
tensor_tensor_arith_op src0=@y, src1=@shift, dst=@y, op=ADD
