"""What tests of shipchat, and of stores and providers made for it, are written with; the program itself imports none."""
