bochner kernel-error data/digits.csv --target label --map fourier --features 256,1024
