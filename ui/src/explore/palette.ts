// The colours of labels.

/** Okabe and Ito's colours, told apart by all eyes; the order keeps neighbours far from each other. */
export const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#b0659a", "#b58900", "#3a9bd6", "#7a7f87", "#6f5bd0"];
export const PALETTE_DARK = ["#56b4e9", "#e8824a", "#2fc39a", "#d996bd", "#e0b53f", "#7cc7f2", "#a3a9b3", "#a397ee"];
