# SPDX-License-Identifier: Apache-2.0
# Programs that were built for older versions; see Makefile.am for what a line looks like.
#
# The library of 0.1 is kept as its header and its map: a library with these names and versions, whose
# functions do nothing, is all that a linker wants to see of it.
old_lib = $(srcdir)/compat/old-lib
EXTRA_DIST += compat/old-lib/nvtxt.h compat/old-lib/nvtxt.map compat/old-lib/program.c
check_DATA += compat/old_program compat/new_program
MOSTLYCLEANFILES += compat/libnvtxt.so compat/old_program compat/new_program
old_lib_cc = $(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(NVTXT_CFLAGS) $(CFLAGS)

compat/libnvtxt.so: $(old_lib)/nvtxt.map
	$(AM_V_at)$(MKDIR_P) compat
	$(AM_V_CCLD)sed -n 's/^ *\(nvtxt_[a-z0-9_]*\);$$/void \1(void); void \1(void) {}/p' \
	  '$(old_lib)/nvtxt.map' | $(CC) $(CFLAGS) -x c - -fPIC -shared -Wl,-soname,libnvtxt.so.0 \
	  -Wl,--version-script='$(old_lib)/nvtxt.map' -o $@
compat/old_program: $(old_lib)/program.c $(old_lib)/nvtxt.h compat/libnvtxt.so
	$(AM_V_CCLD)$(old_lib_cc) -I'$(old_lib)' -o $@ '$(old_lib)/program.c' $(NVTXT_LDFLAGS) $(LDFLAGS) \
	  compat/libnvtxt.so -ldl
compat/new_program: $(old_lib)/program.c $(top_srcdir)/lib/nvtxt.h $(top_srcdir)/lib/nvtxt.map
	$(AM_V_at)$(MKDIR_P) compat
	$(AM_V_CCLD)$(old_lib_cc) -I'$(top_srcdir)/lib' -o $@ '$(old_lib)/program.c' $(NVTXT_LDFLAGS) \
	  $(LDFLAGS) $(lib_shared) -ldl

serial_tests += e2e/test_old_library.py
