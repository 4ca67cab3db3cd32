import"./chunk-YAGRM3ZH.js";import"./chunk-HMT26437.js";import"./chunk-SQE76S5B.js";
