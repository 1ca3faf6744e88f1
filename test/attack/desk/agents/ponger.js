export default ([{ payload }]) => payload;
