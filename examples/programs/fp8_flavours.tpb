; One code, two meanings: dtype code 0xE ends at 240 with infinities on sunda, cayman and mariana, at 448 without any on
; maverick. The first difference between two generations, down to the element:
;
;     gpsimd diff fp8_flavours.tpb -i x=x.npy --gens cayman,maverick

.tensor x sbuf 0 0x0000 fp32     32x64 in
.tensor y sbuf 0 0x0400 fp8_e4m3 32x64 temp
.tensor z sbuf 0 0x0800 bf16     32x64 temp

cast src=@x, dst=@z
cast src=@x, dst=@y
