bochner fit rows.npy --targets y.npy --memory 8M --features 300 -o large.model
