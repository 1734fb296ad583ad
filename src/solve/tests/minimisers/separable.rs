//! Separable costs of the coefficients: bounds and L1 penalties.

use super::*;

#[test]
fn bounded_coefficients_reach_the_least_objective() {
    let own_hinge = OwnLoss::new("hinge", 1.0, |m| (1.0 - m).max(0.0));
    let own_pinball = OwnLoss::new("pinball", 0.8, |r| (-0.8 * r).max(0.2 * r));
    let epsilon = EpsilonInsensitive { epsilon: 0.3 };
    let pinball = Pinball { level: 0.8 };
    /// Minimum objectives, and how many of six coefficients are at the bound.
    type Leasts = [(f64, usize); 2];
    let hinge = [(0.371587961701, 4), (0.230636299873, 3)];
    let quantile = [(0.438004905389, 4), (0.361293280342, 4)];
    let cases: [(FittedRows, &dyn KinkedLoss, Leasts); 5] = [
        (two(), &Hinge, hinge),
        (two(), &OfMargin(own_hinge), hinge),
        (real(), &epsilon, [(0.922183096873, 4), (0.706217497894, 4)]),
        (real(), &pinball, quantile),
        (real(), &OfResidual(own_pinball), quantile),
    ];
    for (rows, loss, expected) in cases {
        for ((bound, lambda), (least, touching)) in
            [(0.5, 0.0), (0.8, 0.01)].into_iter().zip(expected)
        {
            let cost = Some(Separable::Bound(bound));
            let reached = within(&rows, loss, (lambda, true), (cost, 1e-5));
            // Linear programs converge slowly; their minimum is reached long before.
            assert!(reached.residual < 1e-3, "{reached:?}");
            println!("{loss:?} {bound}: {} passes", reached.passes);
            let off = reached.objective / least - 1.0;
            assert!(
                off.abs() < 1e-5,
                "{loss:?}: {} is no {least}",
                reached.objective
            );
            let beta = &reached.coefficients.beta_dt;
            assert!(beta.iter().all(|b| b.abs() <= bound), "{beta}");
            let at_bound = beta.iter().filter(|b| b.abs() > bound - 1e-6);
            assert_eq!(at_bound.count(), touching, "{loss:?}: {beta}");
        }
    }
}

#[test]
fn absolute_penalties_reach_the_least_objective_and_its_zeros() {
    for (ratio, expected, kept) in [(1.0, 1.043833262009, 4), (0.5, 0.905073658835, 4)] {
        let (z, y) = (features(), amounts());
        let (l1, l2) = (0.2 * ratio, 0.2 * (1.0 - ratio));
        let (quadratic, mean_d) = Quadratic::from_covariance(covariance(true), 1.0, l2);
        let y0 = &y - y.mean().expect("rows");
        let c = (&z - &mean_d).t().dot(&y0) / N as f64;
        let mut x = Array1::zeros(6);
        let cost = Separable::Absolute(l1);
        let (_, done) = quadratic.minimise(&c, cost, &mut x.view_mut(), (1e-12, 10_000));
        assert!(done);
        let r = &y0 - &(&z - &mean_d).dot(&x);
        let value = r.dot(&r) / (2 * N) as f64
            + l1 * x.fold(0.0, |s, x: &f64| s + x.abs())
            + 0.5 * l2 * x.dot(&x);
        assert!((value / expected - 1.0).abs() < 1e-8, "{value}");
        assert_eq!(x.iter().filter(|x| **x != 0.0).count(), kept);
    }
}

/// Two classes by accelerated steps with this cost.
fn accelerated(rows: &FittedRows, cost: Separable) -> Reached {
    let loss = row_loss(Logistic);
    let (quadratic, mean_d) = Quadratic::from_covariance(covariance(true), 0.25, 0.0);
    let covariance = Covariance {
        mean_d,
        ..covariance(true)
    };
    let mut z = Stored(features());
    let mut risk = Risk::new(&mut z, rows, &loss, &covariance, (0.0, true));
    let solver = Accelerated {
        cost,
        tolerance: 1e-8,
        max_passes: 500,
    };
    solver
        .solve(&mut risk, &quadratic, &mut |_, _| {})
        .expect("solves")
}

#[test]
fn accelerated_steps_reach_the_least_objective_and_its_zeros() {
    let reached = accelerated(&two(), Separable::Absolute(0.02));
    agrees(&reached, 0.324200124951);
    let beta = &reached.coefficients.beta_dt;
    assert_eq!(beta.iter().filter(|b| **b != 0.0).count(), 4);
}

/// Within bounds, the slope of a coefficient is zero or points towards its bound.
#[test]
fn accelerated_steps_within_bounds_end_where_slopes_press() {
    let rows = two();
    let reached = accelerated(&rows, Separable::Bound(0.8));
    let (z, beta) = (features(), &reached.coefficients.beta_dt.column(0));
    let scores = z.dot(beta) + reached.coefficients.intercept_t[0];
    let slope = |i| {
        Logistic
            .value_and_slope(rows.targets.value(0, i), scores[i])
            .1
    };
    let slopes: Array1<f64> = (0..N).map(slope).collect();
    let gradient = z.t().dot(&slopes) / N as f64;
    let mut at_bound = 0;
    for (b, g) in beta.iter().zip(&gradient) {
        if b.abs() < 0.8 {
            assert!(g.abs() < 1e-6, "{b} {g}")
        } else {
            at_bound += 1;
            assert!(b.abs() <= 0.8 && b * g < 0.0, "{b} {g}");
        }
    }
    assert!((1..6).contains(&at_bound), "{at_bound}");
    assert!(slopes.sum().abs() < 1e-5);
}
