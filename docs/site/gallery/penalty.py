import matplotlib.pyplot as plt
import numpy as np
from bochner import RBFSampler, RidgeCV
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

X, y = load_diabetes(return_X_y=True)
Z = RBFSampler(gamma=0.02, n_components=400, random_state=0).fit_transform(scale(X))
alphas = np.logspace(-4, 3, 29)
model = RidgeCV(alphas).fit(Z, y)
errors = [-RidgeCV([alpha]).fit(Z, y).best_score_ for alpha in alphas]
print(f"alpha {model.alpha_:.3g}, error {np.sqrt(min(errors)):.1f}")

plt.semilogx(alphas, np.sqrt(errors))
plt.axvline(model.alpha_, color="0.5", linestyle="--")
plt.xlabel("alpha")
plt.ylabel("error of rows left out")
plt.show()
