import"./chunk-OEMX7WU6.js";import"./chunk-5S4MP6BQ.js";import"./chunk-SQE76S5B.js";
