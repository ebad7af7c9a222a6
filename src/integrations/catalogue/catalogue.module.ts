import { Module } from '@nestjs/common';
import { AppCatalogue } from './app-catalogue.js';
import { CatalogueEndpoints } from './catalogue-endpoints.js';
import { ConfiguredAppCatalogue } from './configured-app-catalogue.js';

@Module({
  providers: [
    ConfiguredAppCatalogue,
    { provide: AppCatalogue, useExisting: ConfiguredAppCatalogue },
    CatalogueEndpoints,
  ],
  exports: [AppCatalogue, ConfiguredAppCatalogue, CatalogueEndpoints],
})
export class CatalogueModule {}
