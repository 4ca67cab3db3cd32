import"./chunk-QE7NKTTK.js";import"./chunk-YIT3GQQQ.js";import"./chunk-SQE76S5B.js";
