bochner fit data/digits.csv --ignore label --model density --gamma 0.001 -o density.model
