import matplotlib.pyplot as plt
import numpy as np
from bochner import RBFSampler
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

X = scale(load_wine(return_X_y=True)[0])
exact = rbf_kernel(X, gamma=0.05)
counts = [32, 64, 128, 256, 512, 1024]
for sampling in ["monte-carlo", "orthogonal"]:
    errors = []
    for count in counts:
        of = []
        for seed in range(10):
            sampler = RBFSampler(gamma=0.05, n_components=count, sampling=sampling,
                                 form="paired", random_state=seed)
            Z = sampler.fit_transform(X)
            of.append(np.sqrt(np.mean((Z @ Z.T - exact) ** 2)))
        errors.append(np.mean(of))
    print(sampling, [f"{error:.4f}" for error in errors])
    plt.loglog(counts, errors, "o-", label=sampling)
plt.xlabel("features")
plt.ylabel("error of the kernel")
plt.legend()
plt.show()
