import"./chunk-2KJJZZJC.js";import"./chunk-RZGERQ7D.js";import"./chunk-SQE76S5B.js";
