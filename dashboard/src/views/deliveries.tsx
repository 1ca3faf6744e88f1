import type { ReactNode } from 'react';

import { choice, useFilters } from '../app/filters';
import { DeliveryList } from './deliveries/delivery-list';
import { VIEWS } from './deliveries/frame';
import { TargetList } from './deliveries/target-list';

const READERS = { view: choice(...VIEWS) };

export default function Deliveries(): ReactNode {
  const { value } = useFilters(READERS);
  return value.view === 'targets' ? <TargetList /> : <DeliveryList />;
}
