import { Controller, Get, Injectable, Module } from '@nestjs/common';

@Injectable()
export class Prices {
  readonly euros: Record<string, number> = { Lamp: 39.5, Chair: 120 };

  of(product: string): number {
    const price = this.euros[product];
    if (price === undefined) throw new Error(`there is no price for ${product}`);
    return price;
  }
}

@Controller('prices')
export class PricesController {
  constructor(private readonly prices: Prices) {}

  @Get()
  list() {
    return this.prices.euros;
  }
}

@Module({ providers: [Prices], controllers: [PricesController], exports: [Prices] })
export class PricesModule {}
