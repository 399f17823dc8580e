# SPDX-License-Identifier: Apache-2.0
"""Quantiles of Student's distribution; the usual ones without SciPy, which is slow to load."""

from __future__ import annotations

import functools

USUAL = {
    0.95: (
        12.706204736174694,
        4.302652729749462,
        3.1824463052837078,
        2.7764451051977934,
        2.5705818356363146,
        2.4469118511449786,
        2.364624251592784,
        2.306004135204166,
        2.262157162798205,
        2.228138851986274,
        2.200985160091639,
        2.1788128296672284,
        2.1603686564627913,
        2.144786687917804,
        2.131449545559776,
        2.1199052992212546,
        2.1098155778333156,
        2.1009220402410382,
        2.0930240544083087,
        2.085963447265864,
        2.0796138447276795,
        2.0738730679040254,
        2.0686576104190486,
        2.0638985616280245,
        2.0595385527532972,
        2.0555294386428735,
        2.0518305164802846,
        2.0484071417952454,
        2.045229642132703,
        2.0422724563012378,
    ),
    0.98: (
        31.820515953773935,
        6.9645567342832715,
        4.540702858568132,
        3.746947387979196,
        3.3649299989072174,
        3.1426684032910064,
        2.9979515668685277,
        2.896459447709622,
        2.821437925025809,
        2.7637694581126957,
        2.7180791838138623,
        2.6809979931209145,
        2.650308837912191,
        2.624494067590051,
        2.6024802950111225,
        2.5834871852759904,
        2.5669339837247174,
        2.5523796301822506,
        2.5394831906239625,
        2.527977002741573,
        2.517648016044742,
        2.5083245528990803,
        2.4998667394946676,
        2.492159473157756,
        2.4851071754107616,
        2.478629823591241,
        2.472659911956006,
        2.467140097967471,
        2.4620213601504126,
        2.457261542400591,
    ),
    0.99: (
        63.656741162871526,
        9.924843200918287,
        5.840909309733355,
        4.604094871349992,
        4.032142983555228,
        3.7074280213248065,
        3.4994832973504924,
        3.355387331333395,
        3.249835541592126,
        3.16927267261695,
        3.1058065155392804,
        3.0545395893929013,
        3.012275838716578,
        2.9768427343708344,
        2.946712883475238,
        2.9207816224251,
        2.8982305196774183,
        2.8784404727386077,
        2.8609346064649794,
        2.8453397097861077,
        2.83135955802305,
        2.8187560606001423,
        2.807335683769999,
        2.796939504774456,
        2.78743581367697,
        2.778714533329683,
        2.770682957122211,
        2.763262455461444,
        2.756385903670605,
        2.7499956535672254,
    ),
}
"""Quantiles by probability (intervals and trends), for 1 to 30 degrees of freedom, as computed by
SciPy: showing a run need not load it, which would take a fifth of that time."""

NORMAL_95 = 1.959963984540054


@functools.cache
def student_quantile(degrees: int, probability: float) -> float:
    """Student's two-sided quantile: |t| stays below it with the given probability."""
    usual = USUAL.get(probability, ())
    if 1 <= degrees <= len(usual):
        return usual[degrees - 1]
    if probability == 0.95 and degrees > len(usual):
        return _fisher_expansion(degrees)
    # scipy.special alone loads in a tenth of the time of scipy.stats.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + probability) / 2))


def _fisher_expansion(degrees: int) -> float:
    """The quantile of 95 % by Fisher's expansion (Abramowitz and Stegun, 26.7.5).

    Its relative error is below 5e-5 for more than 30 degrees of freedom.
    """
    z = NORMAL_95
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / degrees + second / degrees**2
