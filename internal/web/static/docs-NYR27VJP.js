import"./chunk-73GKL2NW.js";import"./chunk-2VNNPIPY.js";import"./chunk-SQE76S5B.js";
