# SPDX-License-Identifier: Apache-2.0
# Tests of lib/send, lib/life and passes; see Makefile.am for what a line looks like.
helper_programs += nvtx/lib_client
nvtx_lib_client_LDADD = $(lib_shared)
nvtx_lib_client_LDFLAGS = $(lib_shared_ldflags)
helper_programs += nvtx/lib_handler
nvtx_lib_handler_LDADD = $(lib_shared)
nvtx_lib_handler_LDFLAGS = $(lib_shared_ldflags)
EXTRA_DIST += e2e/lib_program.py
python_tests += e2e/test_lib_send.py
whole_tests += e2e/test_lib_send.py
python_tests += e2e/test_lib_robust.py
whole_tests += e2e/test_lib_robust.py
EXTRA_DIST += e2e/python_program.py nvtx/later.c
python_tests += e2e/test_python.py e2e/test_python_nvtx.py
whole_tests += e2e/test_python.py e2e/test_python_nvtx.py
if !SANITIZE
check_DATA += nvtx/later.so
nvtx/later.so: nvtx/later.c
	$(AM_V_at)$(MKDIR_P) nvtx
	$(AM_V_CCLD)$(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(NVTXT_CFLAGS) $(CFLAGS) -fPIC -shared \
	  -o $@ '$(srcdir)/nvtx/later.c' $(LDFLAGS) -ldl
MOSTLYCLEANFILES += nvtx/later.so
endif
waiting_programs += plain/lib_kill_points
plain_lib_kill_points_LDADD = $(core_ldadd)
unit_programs += unit/test_answer
unit_test_answer_LDADD = $(core_ldadd)
unit_programs += unit/test_lib_link
unit_test_lib_link_LDADD = $(core_ldadd)
unit_programs += unit/test_region
unit_test_region_LDADD = $(core_ldadd)
fuzz_programs += fuzz/fuzz_answer
fuzz_fuzz_answer_LDADD = $(core_ldadd)
plain_programs += plain/lib_refusals
plain_lib_refusals_LDADD = $(core_ldadd)
plain_lib_refusals_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=mmap,--wrap=madvise,--wrap=ftruncate \
	-Wl,--wrap=fstat,--wrap=socket,--wrap=connect,--wrap=send,--wrap=recv,--wrap=getrandom \
	-Wl,--wrap=pthread_create,--wrap=pthread_key_create,--wrap=pthread_attr_init,--wrap=open
plain_programs += plain/lib_handlers
plain_lib_handlers_LDADD = $(core_ldadd)
plain_lib_handlers_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getenv
unit_programs += unit/test_pass
unit_test_pass_LDADD = $(core_ldadd)
plain_programs += plain/lib_sleep
plain_lib_sleep_LDADD = $(core_ldadd)
plain_lib_sleep_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=send,--wrap=recv,--wrap=syscall
