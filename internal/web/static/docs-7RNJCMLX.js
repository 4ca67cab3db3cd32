import"./chunk-6P4DYCF4.js";import"./chunk-H7MNWSKH.js";import"./chunk-SQE76S5B.js";
