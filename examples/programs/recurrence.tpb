; state[i] = decay[i] * state[i - 1] + input[i] along each row, from 0: a linear recurrence. The state stays fp32 between
; elements, although decay and input are bf16. Every generation.

.tensor decay sbuf 0 0x0000 bf16 128x64 in
.tensor input sbuf 0 0x0100 bf16 128x64 in
.tensor state sbuf 0 0x1000 fp32 128x64 out

tensor_tensor_scan_arith src0=@decay, src1=@input, dst=@state, op0=MULT, op1=ADD, imm0=0.0
