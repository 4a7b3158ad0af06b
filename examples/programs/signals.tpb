; Waits and updates: the fold counts semaphore 4 up when it is finished, and the read-back waits for the count.
; In one stream order alone would do; with the update taken away the wait could never be met, and the run says so.

.tensor mask sbuf 0 0x0000 uint8 128x16 in
.tensor x    sbuf 0 0x0400 fp32  128x16 in
.tensor y    sbuf 0 0x0800 fp32  128x16 inout
.tensor best sbuf 0 0x0c00 fp32  128x1  out

select_reduce src0=@mask, src1=@x, dst=@y, accumulator_cmd=ZERO_ACCUMULATE, update_mode=SEM_INC_COMPLETE, update_idx=4
dve_read_accumulator dst=@best, wait_mode=SEM_GE_IMM, wait_idx=4, semaphore_value=1
