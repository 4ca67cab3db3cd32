import"./chunk-FLRWYLLW.js";import"./chunk-N4N2FSWX.js";import"./chunk-SQE76S5B.js";
