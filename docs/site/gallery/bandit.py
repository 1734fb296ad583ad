import matplotlib.pyplot as plt
import numpy as np
from bochner.river import LinUCB, ThompsonSampling

random = np.random.RandomState(0)
slopes = random.normal(size=(4, 5))
for bandit in [LinUCB(4), ThompsonSampling(4, width=0.3), None]:
    lost = []
    for _ in range(1500):
        x = random.normal(size=5)
        row, rewards = dict(enumerate(x)), slopes @ x
        arm = random.randint(4) if bandit is None else bandit.choose(row)
        if bandit is not None:
            bandit.learn(row, arm, rewards[arm] + 0.3 * random.normal())
        lost.append(rewards.max() - rewards[arm])
    name = "chance" if bandit is None else type(bandit).__name__
    print(f"{name}: lost {sum(lost):.0f}")
    plt.plot(np.cumsum(lost), label=name)
plt.xlabel("customers")
plt.ylabel("lost")
plt.legend()
plt.show()
