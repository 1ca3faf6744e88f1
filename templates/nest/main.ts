import { serve } from 'starling-agents';

import { PricesModule } from './prices.module.js';
import { Quoter } from './quoter.js';

await serve({ config: 'starling.yaml', agents: [Quoter], imports: [PricesModule] });
