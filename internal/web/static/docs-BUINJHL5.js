import"./chunk-VXJCK7OC.js";import"./chunk-2SWKEAA2.js";import"./chunk-SQE76S5B.js";
