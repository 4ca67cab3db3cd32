import"./chunk-42XLVD7J.js";import"./chunk-NWO74SPM.js";import"./chunk-SQE76S5B.js";
