//! Machine files and cpu numbers as Linux, hwloc and job managers have them.
