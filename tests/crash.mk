# SPDX-License-Identifier: Apache-2.0
# Tests that kill; see Makefile.am for what a line looks like.
python_tests += crash/storm.py
python_tests += crash/watched.py

# A library that records calls; it and a sanitizer's do not go together.
EXTRA_DIST += crash/record_io.c crash/io_log.py crash/disk.py
serial_tests += crash/order.py
whole_tests += crash/order.py
serial_tests += crash/power.py
whole_tests += crash/power.py
if !SANITIZE
check_DATA += crash/record_io.so
crash/record_io.so: crash/record_io.c
	$(AM_V_at)$(MKDIR_P) crash
	$(AM_V_CCLD)$(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(NVTXT_CFLAGS) $(CFLAGS) -fPIC -shared \
	  -o $@ '$(srcdir)/crash/record_io.c' $(LDFLAGS) -ldl
MOSTLYCLEANFILES += crash/record_io.so
endif
