import"./chunk-3XF7RW7O.js";import"./chunk-ZVFA7224.js";import"./chunk-SQE76S5B.js";
