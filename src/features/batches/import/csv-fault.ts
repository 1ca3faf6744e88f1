/** A fault in a CSV file that makes the whole file invalid. */
export class CsvFault extends Error {
  constructor(
    /** The problem, for the message "line 7 ...". */
    problem: string,
    /** Offset of a byte in the line that the message names. */
    readonly offset: number,
    /** Number of lines between the beginning of the row and that line. */
    readonly linesBefore = 0,
  ) {
    super(problem);
  }
}
