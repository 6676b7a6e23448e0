"""The battery: named cases of the slices M5a, M5b and M6 (group V). A case that once failed in the field stays here for good."""
