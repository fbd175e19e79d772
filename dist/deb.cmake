# How CPack makes a .deb of a folder: scripts/package gives the rest with -D.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "Souk")
set(CPACK_PACKAGE_CONTACT "the operator of your market <souk@localhost>")
set(CPACK_PACKAGE_DESCRIPTION "People lend spare machines for credits, people train models on other
people's machines. This has the market's server with its console, the agent of
lenders and the command line.")
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "bubblewrap, ca-certificates")
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_INSTALL_CMAKE_PROJECTS "")
set(CPACK_CMAKE_GENERATOR Ninja)
set(CPACK_PACKAGE_FILE_NAME package)
