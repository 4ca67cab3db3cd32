import"./chunk-HOUTAE6J.js";import"./chunk-WNTRNXEY.js";import"./chunk-SQE76S5B.js";
