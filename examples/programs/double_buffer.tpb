; Two engines and two buffers: POOL scales the four quarters of x, DVE adds each of them up meanwhile. Every generation.
;
;     gpsimd run double_buffer.tpb -i x=x.npy -o out --check --trace timeline.json     ; open it in ui.perfetto.dev
;     gpsimd run double_buffer.tpb -i x=x.npy -o out --schedules 100
;
; Semaphore 1 counts the buffers that POOL has filled, semaphore 2 those that DVE has emptied. Both only grow, and every
; wait is for at least so many: no schedule can change the result. Take one wait away, and --check names the race.

.tensor x    sbuf 0 0x0000 fp32 128x256 in
.tensor a    sbuf 0 0x1000 fp32 128x64  temp
.tensor b    sbuf 0 0x1100 fp32 128x64  temp
.tensor sums sbuf 0 0x2000 fp32 128x4   out

.stream pool
tensor_scalar_arith_op src={addr=@x, num=[64]}, dst=@a, in_dtype=fp32, op0=MULT, imm0=2.0, op1=ADD, imm1=1.0, update_mode=SEM_INC_COMPLETE, update_idx=1
tensor_scalar_arith_op src={addr=@x+256, num=[64]}, dst=@b, in_dtype=fp32, op0=MULT, imm0=2.0, op1=ADD, imm1=1.0, update_mode=SEM_INC_COMPLETE, update_idx=1
tensor_scalar_arith_op src={addr=@x+512, num=[64]}, dst=@a, in_dtype=fp32, op0=MULT, imm0=2.0, op1=ADD, imm1=1.0, wait_mode=SEM_GE_IMM, wait_idx=2, semaphore_value=1, update_mode=SEM_INC_COMPLETE, update_idx=1
tensor_scalar_arith_op src={addr=@x+768, num=[64]}, dst=@b, in_dtype=fp32, op0=MULT, imm0=2.0, op1=ADD, imm1=1.0, wait_mode=SEM_GE_IMM, wait_idx=2, semaphore_value=2, update_mode=SEM_INC_COMPLETE, update_idx=1

.stream dve
tensor_reduce_arith_op src=@a, dst={addr=@sums, num=[1]}, out_dtype=fp32, op=ADD, op_dim=X, wait_mode=SEM_GE_IMM, wait_idx=1, semaphore_value=1, update_mode=SEM_INC_COMPLETE, update_idx=2
tensor_reduce_arith_op src=@b, dst={addr=@sums+4, num=[1]}, out_dtype=fp32, op=ADD, op_dim=X, wait_mode=SEM_GE_IMM, wait_idx=1, semaphore_value=2, update_mode=SEM_INC_COMPLETE, update_idx=2
tensor_reduce_arith_op src=@a, dst={addr=@sums+8, num=[1]}, out_dtype=fp32, op=ADD, op_dim=X, wait_mode=SEM_GE_IMM, wait_idx=1, semaphore_value=3
tensor_reduce_arith_op src=@b, dst={addr=@sums+12, num=[1]}, out_dtype=fp32, op=ADD, op_dim=X, wait_mode=SEM_GE_IMM, wait_idx=1, semaphore_value=4
