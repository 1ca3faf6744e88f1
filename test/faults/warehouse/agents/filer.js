export default async ([stamp]) => stamp.payload;
