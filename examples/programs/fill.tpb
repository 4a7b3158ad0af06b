; The other reading of 0xEA: where the mask is zero the output takes imm0, which joins the maximum. It needs the policy:
;
;     gpsimd run fill.tpb -i DIR -o out --policy select_reduce=select
;
; Under the default policy y keeps what lies there, and imm0 is checked and never read.

.tensor mask sbuf 0 0x0000 uint8 64x32 in
.tensor x    sbuf 0 0x0400 bf16  64x32 in
.tensor y    sbuf 0 0x0800 bf16  64x32 out
.tensor best sbuf 0 0x0c00 fp32  64x1  out

select_reduce src0=@mask, src1=@x, dst=@y, imm0=-1.5, accumulator_cmd=ZERO_ACCUMULATE
dve_read_accumulator dst=@best
