bochner kernel-error data/digits.csv --target label --map fourier --features 256,1024 --sampling monte-carlo,orthogonal --rows 300 --seeds 5
