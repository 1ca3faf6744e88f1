export default async ([parcel], { attempt }) => {
  if (attempt === 1) throw new Error('the printer jams on the first try');
  return { ...parcel.payload, attempt };
};
