/** Something in a CSV file that makes the whole of it unusable. */
export class CsvFault extends Error {
  constructor(
    /** Completes "line 7 ...". */
    problem: string,
    /** Of a byte in the line that is to be named. */
    readonly offset: number,
    /** How many lines before that one the row begins. */
    readonly linesBefore = 0,
  ) {
    super(problem);
  }
}
