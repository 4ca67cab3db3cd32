import"./chunk-74CGQI5R.js";import"./chunk-X764VQMW.js";import"./chunk-SQE76S5B.js";
