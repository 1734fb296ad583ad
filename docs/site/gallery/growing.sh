bochner fit data/digits.csv --target label --sigma 30 --lambda 1e-4 --shard 1/2 --partial 1.sums
bochner fit data/digits.csv --target label --sigma 30 --lambda 1e-4 --shard 2/2 --partial 2.sums
bochner merge 1.sums 2.sums -o digits.model
