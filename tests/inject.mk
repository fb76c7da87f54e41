# SPDX-License-Identifier: Apache-2.0
# Tests of inject/; see Makefile.am for what a line looks like.
EXTRA_DIST += nvtx/stand_in.h nvtx/client.h nvtx/unit.c nvtx/chain_tool.c nvtx/abi_compare.c
EXTRA_DIST += nvtx/chain_tool_ext.c nvtx/chain_tool.h
EXTRA_DIST += nvtx/calls.cpp e2e/inject.py

# One client with the stand-in, once more with the injection linked in, and with the real headers.
# A program that exports its symbols would share NVTX's state with its units: real ones do not.
nvtx_flags = $(AM_CFLAGS) -fvisibility=hidden
helper_programs += nvtx/calls nvtx/calls_linked
nvtx_calls_SOURCES = nvtx/calls.c nvtx/stand_in.c nvtx/client.h nvtx/stand_in.h
nvtx_calls_CFLAGS = $(nvtx_flags)
nvtx_calls_LDADD = -ldl
nvtx_calls_linked_SOURCES = $(nvtx_calls_SOURCES)
nvtx_calls_linked_CFLAGS = $(nvtx_flags)
nvtx_calls_linked_LDFLAGS = $(NVTXT_LDFLAGS) -Wl,--whole-archive,$(injection_archive) \
	-Wl,--no-whole-archive
nvtx_calls_linked_LDADD = -ldl
nvtx_calls_linked_DEPENDENCIES = $(injection_archive)
# Its tool is in the global scope, with the names that NVTX looks up in ours.
helper_programs += nvtx/calls_with_tool
nvtx_calls_with_tool_SOURCES = $(nvtx_calls_SOURCES)
nvtx_calls_with_tool_CFLAGS = $(nvtx_flags)
nvtx_calls_with_tool_LDFLAGS = $(NVTXT_LDFLAGS) -Wl,--no-as-needed,nvtx/chain_tool.so
nvtx_calls_with_tool_LDADD = -ldl
nvtx_calls_with_tool_DEPENDENCIES = nvtx/chain_tool.so
injection_archive = $(top_builddir)/inject/libnvtxt-inject.a

nvtx_cc = $(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(nvtx_flags) $(CFLAGS)
nvtx_so = -fPIC -shared $(NVTXT_SHARED_LDFLAGS) $(LDFLAGS)
nvtx_data = nvtx/unit.so nvtx/chain_tool.so
nvtx/unit.so: nvtx/unit.c nvtx/stand_in.c nvtx/stand_in.h nvtx/client.h
	$(AM_V_at)$(MKDIR_P) nvtx
	$(AM_V_CCLD)$(nvtx_cc) $(nvtx_so) -o $@ '$(srcdir)/nvtx/unit.c' '$(srcdir)/nvtx/stand_in.c' -ldl
nvtx/chain_tool.so: nvtx/chain_tool.c nvtx/chain_tool_ext.c nvtx/chain_tool.h
	$(AM_V_at)$(MKDIR_P) nvtx
	$(AM_V_CCLD)$(nvtx_cc) $(nvtx_so) -Wl,-soname,chain_tool.so -o $@ '$(srcdir)/nvtx/chain_tool.c' \
	  '$(srcdir)/nvtx/chain_tool_ext.c' -ldl

if HAVE_NVTX3
helper_programs += nvtx/calls_real
nvtx_calls_real_SOURCES = nvtx/calls.c nvtx/client.h
nvtx_calls_real_CPPFLAGS = $(AM_CPPFLAGS) -DWITH_NVTX3 $(NVTX3_CFLAGS)
nvtx_calls_real_CFLAGS = $(nvtx_flags)
nvtx_calls_real_LDADD = -ldl
serial_programs += nvtx/abi_compare
nvtx_abi_compare_CPPFLAGS = $(nvtx_calls_real_CPPFLAGS)
nvtx_abi_compare_LDADD = -ldl
nvtx_data += nvtx/unit_real.so
nvtx/unit_real.so: nvtx/unit.c nvtx/client.h
	$(AM_V_at)$(MKDIR_P) nvtx
	$(AM_V_CCLD)$(nvtx_cc) -DWITH_NVTX3 $(NVTX3_CFLAGS) $(nvtx_so) -o $@ '$(srcdir)/nvtx/unit.c' -ldl
if HAVE_CXX
nvtx_data += nvtx/calls_cpp
nvtx/calls_cpp: nvtx/calls.cpp
	$(AM_V_at)$(MKDIR_P) nvtx
	$(AM_V_CCLD)$(CXX) -std=c++17 -Wall -Wextra -g -O1 $(NVTX3_CFLAGS) -o $@ \
	  '$(srcdir)/nvtx/calls.cpp' $(NVTXT_LDFLAGS) $(LDFLAGS) -ldl
endif
endif
check_DATA += $(nvtx_data)
MOSTLYCLEANFILES += $(nvtx_data)

python_tests += e2e/test_inject.py
whole_tests += e2e/test_inject.py
python_tests += e2e/test_inject_chain.py
whole_tests += e2e/test_inject_chain.py
serial_tests += e2e/test_inject_library.py
whole_tests += e2e/test_inject_library.py

inject_ldadd = $(inject_core) $(lib_core) $(LDADD)
unit_programs += unit/test_inject_text unit/test_pairs
unit_test_inject_text_LDADD = $(inject_ldadd)
unit_test_pairs_LDADD = $(inject_ldadd)
